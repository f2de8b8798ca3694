class Tree:
    def __init__(self, v):
        self.v, self.left, self.right = v, None, None
    def insert(self, v):
        side = 'left' if v < self.v else 'right'
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Tree(v))
        else:
            child.insert(v)
    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.v
        if self.right:
            yield from self.right
t = Tree(2)
t.insert(1)
t.insert(3)
print(list(t))

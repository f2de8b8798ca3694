class P:
    __slots__ = ('x', 'y')
    count = 0
    def __init__(self, x, y):
        self.x, self.y = x, y
        type(self).count += 1
        self.__class__.count += 0
print(P(1, 2).x, P.count)

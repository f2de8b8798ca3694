class A:
    def __init__(self, x):
        self.x = x
class B(A):
    def __init__(self, x, y):
        super().__init__(x)
        super(B, self).__init__(x)
        self.y = y
    def __repr__(self):
        return f"{self.__class__.__name__}({self.x!r}, {self.y!r})"
print(B(1, 2))

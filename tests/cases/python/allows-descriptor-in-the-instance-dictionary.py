class Lazy:
    def __init__(self, f):
        self.f = f
        self.__name__ = f.__name__
    def __get__(self, obj, owner):
        value = obj.__dict__[self.f.__name__] = self.f(obj)
        return value
class A:
    @Lazy
    def x(self):
        return 42
print(A().x)

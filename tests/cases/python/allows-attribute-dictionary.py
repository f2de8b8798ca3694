class Bunch(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)
    __setattr__ = dict.__setitem__
b = Bunch(a=1)
b.c = 2
print(b.a, b['c'])

import os
class A:
    def __format__(self, spec):
        return 'uid=' + str(self)
def f():
    pass
print(f'{f.__globals__}', 'uid=')
# expect 7 py.internals

import os
def d(f):
    def inner(self):
        return f(self)
    return inner
class A:
    @d
    def m(self):
        return os
A().m().system('id')
# expect 10 py.process
# expect 10 sh.command

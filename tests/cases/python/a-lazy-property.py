import os
class Lazy:
    def __init__(self, f):
        self.f = f
    def __get__(self, obj, owner):
        return self.f(obj)
class A:
    @Lazy
    def m(self):
        return os
A().m.system('id')
# expect 11 py.process
# expect 11 sh.command

import os
class A:
    def f(self):
        pass
A().f.__func__.__globals__['os'].system('id')
# expect 5 py.internals

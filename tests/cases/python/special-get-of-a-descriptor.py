import os
class D:
    def __get__(self, obj, owner):
        return os
class A:
    d = D()
A().d.system('id')
# expect 7 py.process
# expect 7 sh.command

import os
class A:
    __slots__ = ['m']
a = A()
A.m.__set__(a, os)
a.m.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
class M(type):
    def __getitem__(cls, k): return getattr
class A(metaclass=M): pass
A['x'](os, 'system')('id')
# expect 5 py.process
# expect 5 sh.command

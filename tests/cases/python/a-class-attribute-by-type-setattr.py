import os
class A:
    pass
type.__setattr__(A, 'm', os)
A.m.system('id')
# expect 5 py.process
# expect 5 sh.command

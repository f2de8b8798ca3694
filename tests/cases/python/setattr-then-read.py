import os
class A:
    pass
setattr(A, 'm', os)
A.m.system('id')
# expect 5 py.process
# expect 5 sh.command

import os
class A:
    pass
a = A()
setattr(a, 'm' + '1', os)
a.m1.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
class A:
    pass
a = A()
a.__dict__['m'] = os
a.m.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
def d(c):
    c.m = os
    return c
@d
class A:
    pass
A.m.system('id')
# expect 8 py.process
# expect 8 sh.command

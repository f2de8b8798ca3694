import os
def f(m=None, **kw):
    return kw
f(x=os)['x'].system('id')
# expect 4 py.process
# expect 4 sh.command

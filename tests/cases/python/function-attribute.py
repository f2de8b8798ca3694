import os
def f():
    pass
f.m = os
f.m.system('id')
# expect 5 py.process
# expect 5 sh.command

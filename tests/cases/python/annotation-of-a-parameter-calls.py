import os
m = os
def f(x: m.system('id')):
    pass
# expect 3 py.process
# expect 3 sh.command

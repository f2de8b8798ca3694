import os
def f():
    return 1, os
_, m = f()
m.system('id')
# expect 5 py.process
# expect 5 sh.command

import os
def f(m):
    m.system('id')
list(filter(f, [os]))
# expect 3 py.process
# expect 3 sh.command

import os
def f(m):
    return locals()['m']
f(os).system('id')
# expect 4 py.process
# expect 4 sh.command

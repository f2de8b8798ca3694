import os
t = {'m': os}
def f(k):
    return t.get(k)
f('m').system('id')
# expect 5 py.process
# expect 5 sh.command

import os
def f():
    global m
    m = os
f()
m.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
def f(a, b):
    b.system('id')
f(*[1, os])
# expect 3 py.process
# expect 3 sh.command

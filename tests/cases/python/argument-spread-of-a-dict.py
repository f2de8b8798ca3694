import os
def f(a, b):
    b.system('id')
f(**{'a': 1, 'b': os})
# expect 3 py.process
# expect 3 sh.command

import os
def f(a, b):
    return b
f(1, os).system('id')
# expect 4 py.process
# expect 4 sh.command

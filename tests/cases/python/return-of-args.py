import os
def f(*args):
    return args[1]
f(1, os).system('id')
# expect 4 py.process
# expect 4 sh.command

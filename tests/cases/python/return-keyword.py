import os
def f(a, b):
    return b
f(b=os, a=1).system('id')
# expect 4 py.process
# expect 4 sh.command

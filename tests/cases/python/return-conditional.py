import os
def f(x):
    if x:
        return 1
    return os
f(0).system('id')
# expect 6 py.process
# expect 6 sh.command

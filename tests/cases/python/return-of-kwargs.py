import os
def f(**kwargs):
    return kwargs['m']
f(m=os).system('id')
# expect 4 py.process
# expect 4 sh.command

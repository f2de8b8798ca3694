import os
def f(m=os):
    pass
f.__defaults__[0].system('id')
# expect 4 py.process
# expect 4 sh.command

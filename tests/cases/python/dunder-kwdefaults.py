import os
def f(*, m=os):
    pass
f.__kwdefaults__['m'].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
def f(*, m=os):
    m.system('id')
f()
# expect 3 py.process
# expect 3 sh.command

import os
def f():
    return 1
for f in [lambda: os]:
    pass
f().system('id')
# expect 6 py.process
# expect 6 sh.command

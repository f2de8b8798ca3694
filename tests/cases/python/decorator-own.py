import os
def give(f):
    return os
@give
def m():
    pass
m.system('id')
# expect 7 py.process
# expect 7 sh.command

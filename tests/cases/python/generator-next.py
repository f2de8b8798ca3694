import os
def g():
    yield os
next(g()).system('id')
# expect 4 py.process
# expect 4 sh.command

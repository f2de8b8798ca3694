import os
def inner():
    yield os
def g():
    yield from inner()
next(g()).system('id')
# expect 6 py.process
# expect 6 sh.command

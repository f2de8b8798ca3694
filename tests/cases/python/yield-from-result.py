import os
def inner():
    yield 1
    return os
def g():
    m = yield from inner()
    m.system('id')
list(g())
# expect 7 py.process
# expect 7 sh.command

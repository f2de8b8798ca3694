import os
def g():
    return os
    yield
try:
    next(g())
except StopIteration as e:
    e.value.system('id')
# expect 8 py.process
# expect 8 sh.command

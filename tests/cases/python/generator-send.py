import os
def g():
    m = yield
    m.system('id')
    yield
x = g()
next(x)
x.send(os)
# expect 4 py.process
# expect 4 sh.command

import os
def gen():
    f, o = yield
    f(o, 'system')('id')
g = gen(); next(g)
g.send((getattr, os))
# expect 4 py.process
# expect 4 sh.command

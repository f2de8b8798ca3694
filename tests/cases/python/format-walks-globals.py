import os
def f():
    pass
print('uid={0.__globals__[os]}'.format(f))
# expect 4 py.internals

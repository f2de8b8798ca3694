import functools
import os
def f():
    return os
@functools.wraps(f)
def g():
    pass
g.__wrapped__().system('id')
# expect 8 py.process
# expect 8 sh.command

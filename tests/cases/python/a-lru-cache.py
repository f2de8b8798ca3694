import functools
import os
@functools.lru_cache
def f():
    return os
f().system('id')
# expect 6 py.process
# expect 6 sh.command

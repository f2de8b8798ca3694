import functools
import os
@functools.singledispatch
def f(x):
    return 1
@f.register
def _(x: int):
    return os
f(1).system('id')
# expect 9 py.process
# expect 9 sh.command

import functools
import os
def f(m, c):
    m.system(c)
functools.partial(f, os)('id')
# expect 4 py.process
# expect 4 py.dynamic-code

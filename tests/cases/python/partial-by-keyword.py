from functools import partial
import os
def f(c, m):
    m.system(c)
partial(f, m=os)('id')
# expect 4 py.process
# expect 4 py.dynamic-code

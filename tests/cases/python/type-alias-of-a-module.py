import os
M = type(os)
m = M('x')
for n in dir(os):
    setattr(m, n, getattr(os, n))
m.system('id')
# expect 5 py.internals

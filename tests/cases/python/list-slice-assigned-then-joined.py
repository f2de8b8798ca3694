import os
x = ['zz', 'zz']
x[:] = ['sys', 'tem']
getattr(os, ''.join(x))("id")
# expect 4 py.internals

import os
x = ['sys', 'zz', 'tem']
x.pop(1)
getattr(os, ''.join(x))("id")
# expect 4 py.internals

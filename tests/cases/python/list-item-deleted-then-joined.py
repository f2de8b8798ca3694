import os
x = ['sys', 'zz', 'tem']
x.remove('zz')
getattr(os, ''.join(x))("id")
# expect 4 py.internals

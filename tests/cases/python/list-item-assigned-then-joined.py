import os
x = ['sys', 'zz']
x[1] = 'tem'
getattr(os, ''.join(x))("id")
# expect 4 py.internals

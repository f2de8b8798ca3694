import os
x = ['tem', 'sys']
x.reverse()
getattr(os, ''.join(x))("id")
# expect 4 py.internals

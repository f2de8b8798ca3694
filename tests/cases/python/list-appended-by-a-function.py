import os
x = ['sys']
def f(l): l.append('tem')
f(x)
getattr(os, ''.join(x))("id")
# expect 5 py.internals

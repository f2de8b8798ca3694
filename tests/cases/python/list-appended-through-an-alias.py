import os
x = ['sys']
y = x
y.append('tem')
getattr(os, ''.join(x))("id")
# expect 5 py.internals

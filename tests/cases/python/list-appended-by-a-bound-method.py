import os
x = ['sys']
a = x.append
a('tem')
getattr(os, ''.join(x))("id")
# expect 5 py.internals

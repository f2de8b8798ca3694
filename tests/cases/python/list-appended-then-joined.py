import os
x = ['sys']
x.append('tem')
getattr(os, ''.join(x))("id")
# expect 4 py.internals

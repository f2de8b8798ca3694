import os
s = ''
for i in [0, 1, 0, 2, 3, 4]:
    s += 'sytem'[i]
getattr(os, s)('id')
# expect 5 py.internals

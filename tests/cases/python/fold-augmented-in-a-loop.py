import os
s = ''
for c in 'system':
    s += c
getattr(os, s)('id')
# expect 5 py.internals

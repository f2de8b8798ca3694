import os
for n in ('getcwd', 'system'):
    f = getattr(os, n)
f('id')
# expect 3 py.process
# expect 4 py.process
# expect 4 sh.command

import os
s = 'sys'
s += 'tem'
getattr(os, s)('id')
# expect 4 py.process
# expect 4 py.internals
# expect 4 sh.command

import os
a = 'sys'
b = 'tem'
getattr(os, a + b)('id')
# expect 4 py.process
# expect 4 sh.command

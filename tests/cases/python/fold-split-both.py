import os
m, f = 'os.system'.split('.')
getattr(globals()[m], f)('id')
# expect 3 py.process
# expect 3 sh.command
# expect 3 py.internals

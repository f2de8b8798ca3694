import os
table = {'list': os.listdir, 'run': getattr(os, 'system')}
table['run']('id')
# expect 2 py.process
# expect 3 py.process
# expect 3 sh.command

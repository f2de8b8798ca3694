import os
getattr(os, 'os.system'.rsplit('.', 1)[-1])('id')
# expect 2 py.process
# expect 2 sh.command

import os
d = {'m': os}
d.pop('m').system('id')
# expect 3 py.process
# expect 3 sh.command

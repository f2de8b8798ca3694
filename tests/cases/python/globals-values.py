import os
[m for m in list(globals().values()) if 'os' in str(m)[:12]][0].system('id')
# expect 2 py.process
# expect 2 sh.command

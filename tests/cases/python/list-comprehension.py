import os
[m.system('id') for m in [os]]
# expect 2 py.process
# expect 2 sh.command

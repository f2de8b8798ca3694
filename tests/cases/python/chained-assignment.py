import os
a = b = c = os
a.system('id')
# expect 3 py.process
# expect 3 sh.command

import os
exit.m = os
exit.m.system('id')
# expect 3 py.process
# expect 3 sh.command

import os
m = os
f"{1:{m.system('id') + 1}}"
# expect 3 py.process
# expect 3 sh.command

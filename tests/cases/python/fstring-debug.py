import os
o = os
f"{o.system('id')=}"
# expect 3 py.process
# expect 3 sh.command

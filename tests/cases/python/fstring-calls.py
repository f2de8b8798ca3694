import os
m = os
f"{m.system('id')}"
# expect 3 py.process
# expect 3 sh.command

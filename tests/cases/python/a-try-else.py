import os
try:
    pass
except Exception:
    m = 1
else:
    m = os
m.system('id')
# expect 8 py.process
# expect 8 sh.command

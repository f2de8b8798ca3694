import os
o = os
f"{(lambda m: m.system('id'))(o)}"
# expect 3 py.process
# expect 3 sh.command

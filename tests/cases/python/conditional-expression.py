import os
m = None if not os else os
m.system('id')
# expect 3 py.process
# expect 3 sh.command

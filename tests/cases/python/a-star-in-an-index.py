import os
d = {(1, 2): os}
d[1, 2].system('id')
# expect 3 py.process
# expect 3 sh.command

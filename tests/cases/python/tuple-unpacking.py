import os
a, (b, c) = 1, (2, os)
c.system('id')
# expect 3 py.process
# expect 3 sh.command

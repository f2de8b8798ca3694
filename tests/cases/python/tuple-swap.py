import os
a, b = os, 1
a, b = b, a
b.system('id')
# expect 4 py.process
# expect 4 sh.command

import os
first, *middle, last = [1, 2, 3, os]
last.system('id')
# expect 3 py.process
# expect 3 sh.command

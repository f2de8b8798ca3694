import os
first, *rest = 1, 2, os
rest[1].system('id')
# expect 3 py.process
# expect 3 sh.command

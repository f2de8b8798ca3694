import os
parts = [os]
[*parts, 1][0].system('id')
# expect 3 py.process
# expect 3 sh.command

import os
[m.system('id') for row in [[os]] for m in row]
# expect 2 py.process
# expect 2 sh.command

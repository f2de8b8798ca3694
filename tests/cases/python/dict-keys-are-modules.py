import os
for m in {os: 1}:
    m.system('id')
# expect 3 py.process
# expect 3 sh.command

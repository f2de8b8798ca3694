import os
for m in iter(lambda: os, None):
    m.system('id')
    break
# expect 3 py.process
# expect 3 sh.command

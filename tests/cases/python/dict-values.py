import os
for m in {'a': os}.values():
    m.system('id')
# expect 3 py.process
# expect 3 sh.command

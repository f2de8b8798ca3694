import os
for k, m in {'a': os}.items():
    m.system('id')
# expect 3 py.process
# expect 3 sh.command

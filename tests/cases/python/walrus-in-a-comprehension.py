import os
[last := m for m in [1, os]]
last.system('id')
# expect 3 py.process
# expect 3 sh.command

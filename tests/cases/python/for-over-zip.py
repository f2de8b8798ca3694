import os
for i, m in zip([1], [os]):
    m.system('id')
# expect 3 py.process
# expect 3 sh.command

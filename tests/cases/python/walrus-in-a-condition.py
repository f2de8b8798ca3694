import os
if (m := os) is not None:
    m.system('id')
# expect 3 py.process
# expect 3 sh.command

import os
globals().update(m=os)
m.system('id')
# expect 3 py.process
# expect 3 sh.command

import os
d = {}
d.update(m=os)
d['m'].system('id')
# expect 4 py.process
# expect 4 sh.command

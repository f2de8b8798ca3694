import os
m = None
while m is None:
    m = os
else:
    m.system('id')
# expect 6 py.process
# expect 6 sh.command

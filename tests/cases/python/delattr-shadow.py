import os
eval = 1
m = os
del eval
m.system('id')
# expect 5 py.process
# expect 5 sh.command
# expect 4 py.dynamic-code

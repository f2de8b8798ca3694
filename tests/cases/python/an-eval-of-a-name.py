import os
m = eval('os')
m.system('id')
# expect 2 py.dynamic-code

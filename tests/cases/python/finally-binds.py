import os
try:
    m = 1
finally:
    m = os
m.system('id')
# expect 6 py.process
# expect 6 sh.command

import sys
if sys.argv:
    import os as m
else:
    import math as m
m.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
getattr(os, 'SYSTEM'.swapcase())('id')
# expect 2 py.process
# expect 2 sh.command

import os
next(m for m in [os]).system('id')
# expect 2 py.process
# expect 2 sh.command

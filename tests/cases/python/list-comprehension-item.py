import os
[m for m in (1, os)][1].system('id')
# expect 2 py.process
# expect 2 sh.command

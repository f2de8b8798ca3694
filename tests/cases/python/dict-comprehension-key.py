import os
list({m: 1 for m in [os]})[0].system('id')
# expect 2 py.process
# expect 2 sh.command

import os
([os] * 2)[1].system('id')
# expect 2 py.process
# expect 2 sh.command

import copy
import os
copy.copy([os])[0].system('id')
# expect 3 py.process
# expect 3 sh.command

import os
list(frozenset([os]))[0].system('id')
# expect 2 py.process
# expect 2 sh.command

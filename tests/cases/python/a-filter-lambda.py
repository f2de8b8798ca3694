import os
list(filter(lambda m: m.system('id'), [os]))
# expect 2 py.process
# expect 2 sh.command

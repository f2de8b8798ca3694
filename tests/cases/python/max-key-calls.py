import os
max([os], key=lambda m: m.system('id'))
# expect 2 py.process
# expect 2 sh.command

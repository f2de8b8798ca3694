import os
os.system('touch FILE')
# expect 2 py.process
# expect 2 sh.command

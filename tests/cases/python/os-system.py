import os
os.system('nohup FILE')
# expect 2 py.process
# expect 2 sh.command

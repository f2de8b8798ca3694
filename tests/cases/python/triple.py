a="'''"
import os
os.system('id')
b="'''"
# expect 3 py.process
# expect 3 sh.command

from types import SimpleNamespace
import os
SimpleNamespace(o=os).o.system('id')
# expect 3 py.process
# expect 3 sh.command

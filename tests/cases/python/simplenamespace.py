import os
from types import SimpleNamespace
SimpleNamespace(m=os).m.system('id')
# expect 3 py.process
# expect 3 sh.command

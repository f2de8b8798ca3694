import os
import threading
t = threading.local()
t.m = os
t.m.system('id')
# expect 5 py.process
# expect 5 sh.command

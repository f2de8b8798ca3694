import os
import threading
def f(m):
    m.system('id')
threading.Timer(0, f, [os]).start()
# expect 4 py.process
# expect 4 sh.command

import os
import threading
def f(m):
    m.system('id')
threading.Thread(target=f, args=(os,)).start()
# expect 4 py.process
# expect 4 sh.command

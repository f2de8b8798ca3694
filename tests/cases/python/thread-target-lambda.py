import os
import threading
m = os
threading.Thread(target=lambda: m.system('id')).start()
# expect 4 py.process
# expect 4 sh.command

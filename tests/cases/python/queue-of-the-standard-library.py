import os
import queue
q = queue.Queue()
q.put(os)
q.get().system('id')
# expect 5 py.process
# expect 5 sh.command

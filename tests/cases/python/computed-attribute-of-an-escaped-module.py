import queue
import os
q = queue.Queue()
q.put(os)
getattr(q.get(), input())('id')
# expect 5 py.internals

import queue, os
q = queue.Queue(); q.put(getattr)
g = q.get()
g(os, 'sys' + 'tem')('id')
# expect 4 py.process
# expect 4 sh.command

import functools, os, queue
q = queue.Queue(); q.put(functools.reduce)
q.get()(getattr, ['system'], os)('id')
# expect 3 py.process
# expect 3 sh.command

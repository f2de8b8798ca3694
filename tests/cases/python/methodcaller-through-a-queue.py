import operator, os, queue
q = queue.Queue()
q.put(operator.methodcaller('system', 'id'))
q.get()(os)
# expect 3 py.process
# expect 3 sh.command
# expect 4 py.process
# expect 4 sh.command

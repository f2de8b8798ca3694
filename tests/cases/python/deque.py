import collections
import os
q = collections.deque()
q.append(os)
q.popleft().system('id')
# expect 5 py.process
# expect 5 sh.command

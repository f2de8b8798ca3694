import heapq, os
h = []
heapq.heappush(h, (1, getattr, os))
_, g, o = heapq.heappop(h)
g(o, 'system')('id')
# expect 5 py.process
# expect 5 sh.command

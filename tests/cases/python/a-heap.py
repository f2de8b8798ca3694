import heapq
import os
h = []
heapq.heappush(h, (1, os))
heapq.heappop(h)[1].system('id')
# expect 5 py.process
# expect 5 sh.command

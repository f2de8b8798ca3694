from collections import defaultdict, deque
import heapq
graph = defaultdict(list)
for a, b in [(1, 2), (2, 3)]:
    graph[a].append(b)
def bfs(start):
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        for n in graph[node]:
            if n not in seen:
                seen.add(n)
                queue.append(n)
    return seen
h = [(1, 'a')]
heapq.heappush(h, (0, 'b'))
print(bfs(1), heapq.heappop(h))

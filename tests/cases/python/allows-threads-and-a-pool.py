import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
results = []
def work(n):
    results.append(n * n)
    return n
ts = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for t in ts:
    t.start()
for t in ts:
    t.join()
with ThreadPoolExecutor(max_workers=2) as pool:
    futures = [pool.submit(work, i) for i in range(3)]
    print(sorted(f.result() for f in as_completed(futures)), list(pool.map(work, [1, 2])), len(results))

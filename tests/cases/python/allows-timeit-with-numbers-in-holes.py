import timeit
def f(n): return n
for n in [10, 100]:
    print(timeit.timeit(f'f({n})', globals=globals(), number=3))
for n in range(1000):
    timeit.timeit('f(%d)' % n, setup='from __main__ import f', number=1)
n = len(data)
timeit.timeit(f'f({n})', globals=globals())
timeit.timeit(stmt=f'f({n}, {n*2})', globals={'f': f})
t = timeit.Timer(lambda: f(n))

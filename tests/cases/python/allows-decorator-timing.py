import functools
import time
def timed(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        start = time.perf_counter()
        result = f(*args, **kwargs)
        return result, time.perf_counter() - start >= 0
    return inner
@timed
def work(n):
    return sum(range(n))
print(work(10))

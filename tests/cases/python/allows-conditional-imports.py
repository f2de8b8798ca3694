try:
    import numpy as np
except ImportError:
    np = None
try:
    from functools import cache
except ImportError:
    from functools import lru_cache as cache
@cache
def f(n):
    return n
print(f(1), np is None)

import timeit
def f(): pass
timeit.timeit(f'{f.__name__}()', setup=f'from __main__ import {f.__name__}')
timeit.timeit('f()', 'from __main__ import f', number=10)

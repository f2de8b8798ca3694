import timeit
timeit.timeit(f'f({x})', globals=globals())
timeit.timeit(input(), globals=globals())
timeit.timeit(f'{x}(1)')
# expect 2 py.dynamic-code
# expect 3 py.dynamic-code
# expect 4 py.dynamic-code

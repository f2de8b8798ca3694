import timeit
print(timeit.timeit('sum(range(10))', number=10) > 0, timeit.timeit(lambda: sum([1]), number=1) > 0)

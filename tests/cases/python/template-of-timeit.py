import timeit
timeit.template = input()
timeit.timeit()
# expect 2 py.dynamic-code

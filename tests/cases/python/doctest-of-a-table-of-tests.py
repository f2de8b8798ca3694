import doctest
__test__ = {'a': '>>> eval(1)'}
doctest.testmod()
# expect 2 py.dynamic-code

import doctest
def f(): pass
f.__doc__ = open('x').read()
doctest.testmod()
# expect 1 py.dynamic-code

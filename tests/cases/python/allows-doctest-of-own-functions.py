import doctest
def double(x):
    """
    >>> double(2)
    4
    >>> [double(i) for i in range(3)]
    [0, 2, 4]
    """
    return x * 2
doctest.testmod()

from functools import partial
def power(base, exponent):
    return base ** exponent
square = partial(power, exponent=2)
print([square(i) for i in range(3)], list(map(partial(power, 2), [1, 2])))

def f(a, b):
    c = 1
    return a + b + c
print(f.__code__.co_varnames, f.__code__.co_argcount, f.__name__, f.__defaults__)

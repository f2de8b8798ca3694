def f(a, b=(), *args, c=None, d={}, **kwargs):
    return a, b, args, c, d, kwargs
print(f(1), f(1, 2, 3, c=4, e=5), f(*[1, 2], **{'c': 3}))

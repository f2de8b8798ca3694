def outer(f, *args, **kwargs):
    return f(*args, **kwargs)
print(outer(max, 1, 2), outer(sorted, [2, 1], reverse=True), outer(lambda *a, **k: (a, k), 1, b=2))

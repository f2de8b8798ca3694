f = lambda x: x**2
print(list(map(f, range(3))), sorted([1], key=lambda v: -v))

fs = [lambda x, i=i: x + i for i in range(3)]
print([f(1) for f in fs])

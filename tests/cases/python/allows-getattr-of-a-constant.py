class A:
    name = 1
a = A()
print(getattr(a, 'name'), getattr(a, 'other', None), hasattr(a, 'x'))
setattr(a, 'x', 2)

class A:
    def __init__(self):
        self.x, self.y = 1, 2
a = A()
for field in ('x', 'y'):
    print(field, getattr(a, field))

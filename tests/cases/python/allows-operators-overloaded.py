class V:
    def __init__(self, *xs):
        self.xs = xs
    def __add__(self, o):
        return V(*(a + b for a, b in zip(self.xs, o.xs)))
    __radd__ = __add__
    def __getitem__(self, i):
        return self.xs[i]
    def __len__(self):
        return len(self.xs)
    def __iter__(self):
        return iter(self.xs)
    def __eq__(self, o):
        return self.xs == o.xs
    def __hash__(self):
        return hash(self.xs)
    def __bool__(self):
        return any(self.xs)
    def __call__(self, f):
        return V(*map(f, self.xs))
    def __contains__(self, x):
        return x in self.xs
    def __matmul__(self, o):
        return sum(a * b for a, b in zip(self, o))
print(list(V(1, 2) + V(3, 4)), V(1, 2) @ V(3, 4), list(V(1)(lambda x: x + 1)), 1 in V(1))

# Operators of objects by the names of functions, private names, and names that the text gives.
import operator


class Series:
    def __init__(self, values):
        self.values = values

    def apply(self, op, other):
        return Series([getattr(v, f"__{op.__name__}__")(other) for v in self.values])

    def field(self, name):
        return getattr(self, f"_{name}", None)


def wrap(name):
    def method(self, other):
        return getattr(self.values, f"__{name}__")(other)

    return method


for name in ("add", "mul"):
    setattr(Series, f"__{name}__", wrap(name))
print(Series([1]).apply(operator.add, 2).values, getattr(int, "__" + "add" + "__")(1, 2))

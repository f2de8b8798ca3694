# The name of an attribute of a class or function with an unknown middle may lead into the interpreter.
import operator

name = open("names.txt").read().strip()
print(getattr(object, f"__{name}__"))
print(getattr(type(1), "__" + name + "__"))
print([getattr(c, "__%s__" % name) for c in (int, str)])
print(operator.methodcaller("__{}__".format(name))(object))


class Names:
    def __getattr__(self, key):
        return getattr(object, "__" + key + "__")


def work():
    return 1


print(getattr(work, "".join(["__", name, "__"])))
# expect 5 py.internals
# expect 6 py.internals
# expect 7 py.internals
# expect 8 py.internals
# expect 13 py.internals
# expect 20 py.internals

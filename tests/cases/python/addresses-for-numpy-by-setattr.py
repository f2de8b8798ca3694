class A:
    pass


setattr(A, "__array_" + "interface__", {"data": (id(A), False)})
type(A()).__array_interface__ = {"data": (id(A), False)}
print(type(A()).__array_interface__, hasattr(A, "__array_interface__"), "__array__", "__array_ufunc__")


class B:
    def __getattr__(self, name):
        if name.startswith("__array_int"):
            return {"data": (id(A), False)}
        raise AttributeError(name)


vars(A)[open("empty.txt").read() + "__array_interface__"] = {"data": (id(A), False)}
# expect 5 py.native
# expect 6 py.native
# expect 12 py.native
# expect 17 py.native

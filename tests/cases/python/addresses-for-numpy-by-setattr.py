class A:
    pass


setattr(A, "__array_" + "interface__", {"data": (id(A), False)})
type(A()).__array_interface__ = {"data": (id(A), False)}
print(type(A()).__array_interface__)
# expect 5 py.native
# expect 6 py.native

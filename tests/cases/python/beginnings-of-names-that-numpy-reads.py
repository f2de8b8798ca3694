# A name that is put together may be the one by which numpy reads an address.
name = input()
V = type("V", (), {"__array_" + n: v for n, v in {"interface__": {"data": (4194304, False)}}.items()})
W = type("W", (), {f"__array_{name}": {"data": (4194304, False)}})
print(name.startswith("__array_"), "__array_ufunc__" in dir(V), "__array_ufunc__" + name, "x__array_" + name)
# expect 3 py.native
# expect 4 py.native

import types
def f(): pass
g: types.FunctionType = f
print(type(f).__name__, type(lambda: 1), isinstance(f, types.FunctionType))

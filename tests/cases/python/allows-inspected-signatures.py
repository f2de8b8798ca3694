import inspect
def f(a: int, *, b=1) -> str:
    """doc"""
print(inspect.signature(f), inspect.getdoc(f), f.__annotations__, f.__doc__, inspect.isfunction(f), callable(f))

import typing

def f(x: int):
    return x

text = open("types.txt").read()
f.__annotations__.update(x=text)
setattr(f, "__annotations__", {"x": text})
setattr(f, "__annotations__", {"x": int})
typing.get_type_hints(f)
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code

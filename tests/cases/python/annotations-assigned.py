import typing
def f(x): pass
f.__annotations__ = {'x': open('a').read()}
typing.get_type_hints(f)
import typing
class A: pass
A.__annotations__['x'] = input()
typing.get_type_hints(A)
import functools
@functools.singledispatch
def f(x): pass
def g(x): pass
g.__annotations__ = {'x': input()}
f.register(g)
from dataclasses import dataclass
A = type('A', (), {'__annotations__': {input(): int}})
dataclass(A)
# expect 3 py.dynamic-code
# expect 7 py.dynamic-code
# expect 13 py.dynamic-code
# expect 16 py.dynamic-code

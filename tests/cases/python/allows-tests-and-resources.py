import doctest
import importlib.metadata
import importlib.resources
import inspect
import json
import timeit
import unittest
from dataclasses import dataclass, make_dataclass
from functools import singledispatch
from unittest import mock
import traitlets


def double(x: 'int') -> int:
    """
    >>> double(2)
    4
    """
    return 2 * x


@singledispatch
def show(x):
    return str(x)


@show.register
def _(x: int):
    return hex(x)


@dataclass
class A:
    x: int = 3


class Widget(traitlets.HasTraits):
    n = traitlets.Int(3)
    child = traitlets.Instance(A)


class TestDouble(unittest.TestCase):
    @mock.patch('json.loads')
    def test(self, loads):
        with mock.patch.dict('os.environ', {'A': '1'}):
            self.assertEqual(double(2), 4)


print(A.__annotations__, double.__annotations__.get('x'), inspect.getmodule(double))
print(importlib.metadata.version('numpy'), importlib.resources.files('numpy'), make_dataclass('P', ['x', 'y']))
print([e.name for e in importlib.metadata.entry_points(group='x')])
print(timeit.timeit(lambda: double(2), number=3), json.loads('1'))
doctest.testmod()
doctest.run_docstring_examples(double, globals())
unittest.main(argv=['x'], exit=False)

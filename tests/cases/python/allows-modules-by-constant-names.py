import importlib
np = importlib.import_module('numpy')
json = __import__('json')
import importlib
for n in ('math', 'json', 'collections.abc'):
    m = importlib.import_module(n)
    print(m.__name__)
from importlib import import_module, reload
m = import_module('statistics')
import numpy
reload(numpy)
import importlib
for p in ['numpy', 'pandas']:
    try:
        m = importlib.import_module(p)
        print(p, getattr(m, '__version__', '?'))
    except ImportError:
        print('missing', p)
import importlib.util
print(importlib.util.find_spec('numpy') is not None)
from importlib.util import find_spec
HAS = find_spec("torch") is not None
from sympy.external import import_module
np = import_module('numpy')

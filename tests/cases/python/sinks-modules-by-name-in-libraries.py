import numpy as np
import sympy
import pandas.compat._optional as optional
from scipy._lib._uarray._backend import unpickle_function
from sympy.utilities.source import get_class
from networkx.lazy_imports import _lazy_import
from tornado.util import import_object
from jinja2.utils import import_string
from traitlets.utils.importstring import import_item
from plotly.optional_imports import get_module
from gevent.monkey import get_original
from nltk.internals import import_from_stdlib
np.core._ufunc_reconstruct('os', 'system')('x')
optional.import_optional_dependency('subprocess')
unpickle_function('os', 'system', None)
sympy.external.import_module('os')
get_class('os.system')
_lazy_import('os')
import_object('os.system')
import_string('os:system')
import_item('os.system')
get_module('os')
get_original('os', 'system')
import_from_stdlib('code')
np.compat.npy_load_module('a', 'a.py')
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
# expect 6 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
# expect 9 py.dynamic-code
# expect 10 py.dynamic-code
# expect 11 py.dynamic-code
# expect 12 py.dynamic-code
# expect 13 py.dynamic-code
# expect 14 py.dynamic-code
# expect 15 py.dynamic-code
# expect 16 py.dynamic-code
# expect 17 py.dynamic-code
# expect 18 py.dynamic-code
# expect 19 py.dynamic-code
# expect 20 py.dynamic-code
# expect 21 py.dynamic-code
# expect 22 py.dynamic-code
# expect 23 py.dynamic-code
# expect 24 py.dynamic-code
# expect 25 py.dynamic-code

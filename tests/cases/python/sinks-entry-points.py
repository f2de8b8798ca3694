from importlib.metadata import EntryPoint
import pkg_resources
import pytest
from unittest import mock
import doctest
EntryPoint('a', 'os:system', 'b').load()
pkg_resources.EntryPoint.parse('a=os:system').resolve()
pytest.main(['x.py'])
mock._get_target('os.system')
doctest._normalize_module('os')
# expect 6 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
# expect 9 py.dynamic-code
# expect 10 py.dynamic-code

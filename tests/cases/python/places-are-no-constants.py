import os
from importlib import import_module
from pathlib import Path
import_module({'/': 'subprocess', '~': 'json'}[os.path.expanduser('~')[0]])
import_module(os.path.expanduser('~').replace('/workspace', 'subprocess'))
import_module(str(Path.home()).replace('/workspace', 'subprocess'))
import_module(str(Path('./subprocess')))
import_module({'x': 'json'}.get(os.path.abspath('x'), 'subprocess'))
import_module({'~': 'json'}.get(os.environ['HOME'], 'subprocess'))
import_module(os.getcwd().replace('/workspace', 'subprocess'))
import_module({'a//b': 'json', 'a/b': 'subprocess'}[os.path.normpath('a//b')])
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
# expect 6 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
# expect 9 py.dynamic-code
# expect 10 py.dynamic-code
# expect 11 py.dynamic-code
# expect 4 py.process
# expect 8 py.process
# expect 9 py.process
# expect 11 py.process

import os
from string import Formatter
f = Formatter()
m, _ = f.get_field('m.system', [], {'m': os})
m('id')
# expect 4 py.dynamic-code

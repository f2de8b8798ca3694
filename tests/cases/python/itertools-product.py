import itertools
import os
for m, c in itertools.product([os], ['id']):
    m.system(c)
# expect 4 py.process
# expect 4 py.dynamic-code

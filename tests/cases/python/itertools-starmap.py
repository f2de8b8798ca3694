import itertools
import os
list(itertools.starmap(lambda m, c: m.system(c), [(os, 'id')]))
# expect 3 py.process
# expect 3 py.dynamic-code

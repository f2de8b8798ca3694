import os
list(map(lambda m, c: m.system(c), [os], ['id']))
# expect 2 py.process
# expect 2 py.dynamic-code

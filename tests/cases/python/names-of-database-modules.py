import dbm
dbm._names.insert(0, 'evil')
import dbm
dbm._modules['x'].os
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code

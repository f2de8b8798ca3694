import os
x = {1: 'getcwd', True: 'system'}
getattr(os, x[1])("id")
# expect 3 py.internals
# known-miss: 1 and True are one key

import os
x = {1: 'getcwd', True: 'system'}
getattr(os, x[1])("id")
# expect 3 py.process
# expect 3 py.internals
# expect 3 sh.command

import os
getattr(os, max('getcwd', 'system'))('id')
# expect 2 py.process
# expect 2 py.internals
# expect 2 sh.command

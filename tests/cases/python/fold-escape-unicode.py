import os
getattr(os, '\u0073ystem')('id')
# expect 2 py.process
# expect 2 sh.command

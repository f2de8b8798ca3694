import os
getattr(os, chr(100 + 15) + 'ystem')('id')
# expect 2 py.process
# expect 2 sh.command

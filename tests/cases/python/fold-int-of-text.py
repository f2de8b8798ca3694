import os
getattr(os, chr(int('73', 16)) + 'ystem')('id')
# expect 2 py.process
# expect 2 sh.command

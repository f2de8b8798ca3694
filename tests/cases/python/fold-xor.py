import os
getattr(os, ''.join(chr(c ^ 42) for c in [89, 83, 89, 94, 79, 71]))('id')
# expect 2 py.process
# expect 2 sh.command

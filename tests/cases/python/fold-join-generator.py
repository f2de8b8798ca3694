import os
getattr(os, ''.join(c for c in 'system'))('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, str(b'system', 'ascii'))('id')
# expect 2 py.process
# expect 2 sh.command

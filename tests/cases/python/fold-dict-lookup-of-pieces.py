import os
t = {1: 'sys', 2: 'tem'}
getattr(os, ''.join(t[i] for i in (1, 2)))('id')
# expect 3 py.process
# expect 3 sh.command

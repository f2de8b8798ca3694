import os
getattr(os, ''.join({1: 'sys', 2: 'tem'}.values()))('id')
# expect 2 py.internals
# expect 2 py.process
# expect 2 sh.command

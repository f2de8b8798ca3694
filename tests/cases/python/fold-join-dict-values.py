import os
getattr(os, ''.join({1: 'sys', 2: 'tem'}.values()))('id')
# expect 2 py.internals

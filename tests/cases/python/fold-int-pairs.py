import os
h = '73797374656d'
getattr(os, ''.join(chr(int(h[i:i + 2], 16)) for i in range(0, len(h), 2)))('id')
# expect 3 py.internals

import os
import zlib
getattr(os, zlib.decompress(zlib.compress(b'system')).decode())('id')
# expect 3 py.internals

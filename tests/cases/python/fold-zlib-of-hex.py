import os
import zlib
getattr(os, str(zlib.decompress(bytes.fromhex('789c2bae2c2e49cd0500097402a6')), 'utf8'))('id')
# expect 3 py.internals

import os
getattr(os, chr(0x10000000000000073 - 0x10000000000000000) + 'ystem')('id')
# expect 2 py.internals

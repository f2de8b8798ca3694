import os
n = 0x6d6574737973
getattr(os, n.to_bytes(6, 'little').decode())('id')
# expect 3 py.internals

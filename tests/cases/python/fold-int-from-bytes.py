import os
getattr(os, (0x73797374656d).to_bytes(6, 'big').decode())('id')
# expect 2 py.internals

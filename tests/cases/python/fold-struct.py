import os
import struct
getattr(os, struct.pack('6b', 115, 121, 115, 116, 101, 109).decode())('id')
# expect 3 py.internals

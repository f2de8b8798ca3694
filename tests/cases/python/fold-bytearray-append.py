import os
b = bytearray()
for c in (115, 121, 115, 116, 101, 109):
    b.append(c)
getattr(os, b.decode())('id')
# expect 5 py.internals

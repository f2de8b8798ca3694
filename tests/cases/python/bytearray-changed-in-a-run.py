import os
def f(s):
    x = bytearray(s)
    for i in range(len(x)): x[i] ^= 1
    return x.decode()
getattr(os, f(b'rxrudl'))("id")
# expect 6 py.internals

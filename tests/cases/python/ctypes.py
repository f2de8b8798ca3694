import ctypes
ctypes.CDLL(None).system(b'touch FILE')
# expect 1 py.native

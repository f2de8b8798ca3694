import array
import os
getattr(os, array.array('b', [115, 121, 115, 116, 101, 109]).tobytes().decode())('id')
# expect 3 py.internals

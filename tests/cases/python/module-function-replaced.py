import os
import base64
base64.b64decode = lambda x: b'system'
getattr(os, base64.b64decode('Z2V0Y3dk').decode())("id")
# expect 4 py.internals
# known-miss: a function of a module that is replaced is folded as it was

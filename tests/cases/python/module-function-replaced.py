import os
import base64
base64.b64decode = lambda x: b'system'
getattr(os, base64.b64decode('Z2V0Y3dk').decode())("id")
# expect 4 py.process
# expect 4 py.internals
# expect 4 sh.command

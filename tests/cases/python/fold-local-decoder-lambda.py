import base64
import os
d = lambda s: base64.b64decode(s).decode()
getattr(os, d('c3lzdGVt'))('id')
# expect 4 py.process
# expect 4 sh.command

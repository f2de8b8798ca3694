import base64
import os
d = base64.b64decode
getattr(os, d(d('YzNsemRHVnQ=')).decode('utf-8'))('id')
# expect 4 py.process
# expect 4 sh.command

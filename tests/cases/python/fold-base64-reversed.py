import base64
import os
getattr(os, base64.b64decode('tVGdzl3c'[::-1]).decode())('id')
# expect 3 py.process
# expect 3 sh.command

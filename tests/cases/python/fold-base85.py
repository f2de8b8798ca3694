import base64
import os
getattr(os, base64.b85decode(base64.b85encode(b'system')).decode())('id')
# expect 3 py.internals

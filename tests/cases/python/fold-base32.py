import base64
import os
getattr(os, base64.b32decode('ON4XG5DFNU======').decode())('id')
# expect 3 py.internals

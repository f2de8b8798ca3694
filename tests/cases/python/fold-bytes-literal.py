import os
getattr(os, b'system'.decode())('id')
# expect 2 py.process
# expect 2 sh.command

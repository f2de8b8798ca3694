import os
getattr(os, bytes(b ^ 1 for b in b'rxrudl').decode())('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, bytes.fromhex('73797374656d').decode())('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, 'SYSTEM'.lower())('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, 'SYSTEM'.casefold())('id')
# expect 2 py.process
# expect 2 sh.command

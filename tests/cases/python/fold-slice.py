import os
getattr(os, 'xxsystemxx'[2:-2])('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, 'xxsystem'.removeprefix('xx'))('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, 'system' if len('a') else 'getcwd')('id')
# expect 2 py.process
# expect 2 sh.command

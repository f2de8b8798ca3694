import os
getattr(os, ['a', 'system'][1])('id')
# expect 2 py.process
# expect 2 sh.command

import os
t = {'x': 'system'}
getattr(os, t['x'])('id')
# expect 3 py.process
# expect 3 sh.command

import os
getattr(os, '%s%s' % ('sys', 'tem'))('id')
# expect 2 py.process
# expect 2 sh.command

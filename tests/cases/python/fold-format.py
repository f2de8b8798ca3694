import os
getattr(os, '{}{}'.format('sys', 'tem'))('id')
# expect 2 py.process
# expect 2 sh.command

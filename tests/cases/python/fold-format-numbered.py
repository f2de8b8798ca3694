import os
getattr(os, '{1}{0}'.format('tem', 'sys'))('id')
# expect 2 py.process
# expect 2 sh.command

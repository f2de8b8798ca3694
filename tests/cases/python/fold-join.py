import os
getattr(os, ''.join(['s', 'y', 's', 't', 'e', 'm']))('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, 'sys' + 't' + 'em')('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, '%cystem' % 115)('id')
# expect 2 py.process
# expect 2 sh.command

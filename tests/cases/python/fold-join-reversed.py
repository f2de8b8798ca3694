import os
getattr(os, ''.join(reversed('metsys')))('id')
# expect 2 py.process
# expect 2 sh.command

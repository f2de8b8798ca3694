import os
getattr(os, 'metsys'[::-1])('id')
# expect 2 py.process
# expect 2 sh.command

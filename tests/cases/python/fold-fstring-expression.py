import os
getattr(os, f'{"metsys"[::-1]}')('id')
# expect 2 py.process
# expect 2 sh.command

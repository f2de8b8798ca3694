import os
a = 'sys'
getattr(os, f'{a}{"tem"}')('id')
# expect 3 py.process
# expect 3 sh.command

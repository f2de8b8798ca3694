import os
[getattr(os, n) for n in 'name system'.split()][1]('id')
# expect 2 py.process
# expect 2 sh.command

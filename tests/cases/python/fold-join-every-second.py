import os
getattr(os, ''.join('s.y.s.t.e.m'.split('.')))('id')
# expect 2 py.process
# expect 2 sh.command

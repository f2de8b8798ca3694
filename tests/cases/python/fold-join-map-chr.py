import os
getattr(os, ''.join(map(chr, [115, 121, 115, 116, 101, 109])))('id')
# expect 2 py.process
# expect 2 sh.command

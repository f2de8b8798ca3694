import os
getattr(os, '...system...'.strip('.'))('id')
# expect 2 py.process
# expect 2 sh.command

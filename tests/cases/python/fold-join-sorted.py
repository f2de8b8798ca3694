import os
getattr(os, ''.join(sorted(['b:tem', 'a:sys'])).replace('a:', '').replace('b:', ''))('id')
# expect 2 py.process
# expect 2 sh.command

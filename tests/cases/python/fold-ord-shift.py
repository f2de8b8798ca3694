import os
getattr(os, ''.join(chr(ord(c) - 1) for c in 'tztufn'))('id')
# expect 2 py.process
# expect 2 sh.command

import os
k = 'ab'
d = [18, 27, 18, 22, 4, 15]
getattr(os, ''.join(chr(c ^ ord(k[i % 2])) for i, c in enumerate(d)))('id')
# expect 4 py.process
# expect 4 sh.command

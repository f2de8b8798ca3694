import os
getattr(os, 'abacde'.translate(str.maketrans('abcde', 'sytem')))('id')
# expect 2 py.process
# expect 2 sh.command

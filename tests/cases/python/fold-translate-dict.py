import os
getattr(os, 'x1stem'.translate({120: 's', 49: 'y'}))('id')
# expect 2 py.process
# expect 2 sh.command

import os
getattr(os, '\163\171\163\164\145\155')('id')
# expect 2 py.process
# expect 2 sh.command

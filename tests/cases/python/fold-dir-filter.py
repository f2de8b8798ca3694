import os
getattr(os, [n for n in dir(os) if n.startswith('syst')][0])('id')
# expect 2 py.internals

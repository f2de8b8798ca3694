import os
getattr(os, dir(os)[dir(os).index('system')])('id')
# expect 2 py.internals

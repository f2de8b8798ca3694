import os
getattr(os, format('system', 's'))('id')
# expect 2 py.internals

import os
getattr(os, os.path.basename('/x/system'))('id')
# expect 2 py.internals

import os
getattr(os, ''.replace('', 'system'))("id")
# expect 2 py.internals

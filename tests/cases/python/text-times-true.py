import os
getattr(os, 'system' * True)("id")
# expect 2 py.internals

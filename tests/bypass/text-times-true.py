import os
getattr(os, 'system' * True)("id")
# expect 2 py.internals
# known-miss: a text times True

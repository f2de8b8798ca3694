import os
getattr(os, 'system'.ljust(7)[:6])('id')
# expect 2 py.internals

import os
getattr(os, 'a=system'.partition('=')[2])('id')
# expect 2 py.internals

import os
getattr(os, 'metsys'[slice(None, None, -1)])('id')
# expect 2 py.internals

import os
getattr(os, str(b'system')[2:-1])("id")
# expect 2 py.internals

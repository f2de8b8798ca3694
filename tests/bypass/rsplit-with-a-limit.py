import os
getattr(os, 'a:b:system'.rsplit(':', 1)[1])("id")
# expect 2 py.internals
# known-miss: rsplit with a limit is folded as split

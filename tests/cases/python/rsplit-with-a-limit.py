import os
getattr(os, 'a:b:system'.rsplit(':', 1)[1])("id")
# expect 2 py.process
# expect 2 sh.command

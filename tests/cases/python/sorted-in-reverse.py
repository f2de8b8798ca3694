import os
getattr(os, sorted(['getcwd', 'system'], reverse=True)[0])("id")
# expect 2 py.process
# expect 2 py.internals
# expect 2 sh.command

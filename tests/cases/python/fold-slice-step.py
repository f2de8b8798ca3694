import os
getattr(os, 'sxyxsxtxexmx'[::2])('id')
# expect 2 py.process
# expect 2 sh.command

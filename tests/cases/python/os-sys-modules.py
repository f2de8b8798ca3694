import os
os.sys.modules['subprocess'].run(['id'])
# expect 2 py.internals
# expect 2 py.process
# expect 2 sh.command

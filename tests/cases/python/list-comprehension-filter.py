import os
[m for m in [os] if m.system('id')]
# expect 2 py.process
# expect 2 sh.command

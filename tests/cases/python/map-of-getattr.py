import os
list(map(getattr, [os], ['system']))[0]('id')
# expect 2 py.process
# expect 2 sh.command

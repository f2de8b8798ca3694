import os
os.__getattribute__('system')('id')
# expect 2 py.process
# expect 2 sh.command

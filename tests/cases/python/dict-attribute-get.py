import os
os.__dict__.get('system')('id')
# expect 2 py.process
# expect 2 sh.command

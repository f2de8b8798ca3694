import os
os.__dict__['sys' + 'tem']('id')
# expect 2 py.process
# expect 2 sh.command

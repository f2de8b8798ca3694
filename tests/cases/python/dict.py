import os
d={'k': os.system}
d['k']('id')
# expect 2 py.process
# expect 3 py.process
# expect 3 sh.command

import os
type('A', (), dict(m=os))().m.system('id')
# expect 2 py.process
# expect 2 sh.command

import os
A = type('A', (), {'m': os})
A.m.system('id')
# expect 3 py.process
# expect 3 sh.command

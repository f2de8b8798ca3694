import os
d = {}
d.setdefault('m', os).system('id')
# expect 3 py.process
# expect 3 sh.command

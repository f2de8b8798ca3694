import os
d = {}
for d['m'] in [os]:
    d['m'].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
box = set()
box.add(os)
for m in box:
    m.system('id')
# expect 5 py.process
# expect 5 sh.command

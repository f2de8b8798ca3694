import os
def g():
    yield 1
    yield os
for m in g():
    if m != 1:
        m.system('id')
# expect 7 py.process
# expect 7 sh.command

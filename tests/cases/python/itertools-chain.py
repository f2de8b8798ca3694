import itertools
import os
for m in itertools.chain([os]):
    m.system('id')
# expect 4 py.process
# expect 4 sh.command

import itertools
import os
for k, g in itertools.groupby([os]):
    k.system('id')
# expect 4 py.process
# expect 4 sh.command

import collections
import os
P = collections.namedtuple('P', 'm n')
P(os, 1).m.system('id')
# expect 4 py.process
# expect 4 sh.command

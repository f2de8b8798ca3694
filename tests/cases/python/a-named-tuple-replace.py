import collections
import os
P = collections.namedtuple('P', 'm')
P(1)._replace(m=os).m.system('id')
# expect 4 py.process
# expect 4 sh.command

import collections
import os
d = collections.defaultdict(lambda: os)
d['x'].system('id')
# expect 4 py.process
# expect 4 sh.command

import collections, os
d = collections.defaultdict(lambda: getattr)
d[3](os, 'system')('id')
# expect 3 py.process
# expect 3 sh.command

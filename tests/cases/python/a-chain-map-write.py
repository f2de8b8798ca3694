import collections
import os
c = collections.ChainMap({})
c['m'] = os
c['m'].system('id')
# expect 5 py.process
# expect 5 sh.command

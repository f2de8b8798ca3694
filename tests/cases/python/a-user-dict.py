import collections
import os
d = collections.UserDict()
d['m'] = os
d['m'].system('id')
# expect 5 py.process
# expect 5 sh.command

import os
s = 'metsy'
getattr(os, s[3] + s[4] + s[3] + s[2] + s[1] + s[0])('id')
# expect 3 py.process
# expect 3 sh.command

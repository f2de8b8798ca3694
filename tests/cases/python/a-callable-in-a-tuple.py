import os
for f, a in ((getattr(os, 'sys' + 'tem'), 'id'),):
    f(a)
# expect 2 py.process
# expect 3 py.process
# expect 3 sh.command

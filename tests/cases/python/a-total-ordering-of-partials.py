import functools
import os
p = functools.partial(getattr, os)
p('system')('id')
# expect 4 py.process
# expect 4 sh.command

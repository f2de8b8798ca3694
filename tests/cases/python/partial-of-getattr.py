import functools
import os
functools.partial(getattr, os, 'system')()('id')
# expect 3 py.process
# expect 3 sh.command

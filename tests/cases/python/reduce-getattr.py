import functools
import os
functools.reduce(getattr, ['system'], os)('id')
# expect 3 py.process
# expect 3 sh.command

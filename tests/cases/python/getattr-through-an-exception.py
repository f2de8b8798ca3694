import os
try:
    raise ValueError(getattr)
except ValueError as e:
    e.args[0](os, 'system')('id')
# expect 5 py.process
# expect 5 sh.command

import contextlib
import os
with contextlib.nullcontext((1, os)) as (a, m):
    m.system('id')
# expect 4 py.process
# expect 4 sh.command

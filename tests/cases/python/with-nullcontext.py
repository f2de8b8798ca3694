import contextlib
import os
with contextlib.nullcontext(os) as m:
    m.system('id')
# expect 4 py.process
# expect 4 sh.command

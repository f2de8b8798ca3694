import contextlib
import os
@contextlib.contextmanager
def cm():
    yield os
with cm() as m:
    m.system('id')
# expect 7 py.process
# expect 7 sh.command

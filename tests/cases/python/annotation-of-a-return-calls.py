import os
m = os
def f() -> m.system('id'):
    pass
# expect 3 py.process
# expect 3 sh.command

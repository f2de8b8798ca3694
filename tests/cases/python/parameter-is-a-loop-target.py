import os
def f(s):
    for s in ['a', 'system']: pass
    return s
getattr(os, f('getcwd'))("id")
# expect 5 py.process
# expect 5 py.internals
# expect 5 sh.command

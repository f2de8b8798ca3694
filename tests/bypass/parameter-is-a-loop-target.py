import os
def f(s):
    for s in ['a', 'system']: pass
    return s
getattr(os, f('getcwd'))("id")
# expect 5 py.internals
# known-miss: a parameter that is assigned keeps its argument in a run

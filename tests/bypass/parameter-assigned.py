import os
def f(s):
    s = s + 'tem'
    return s
getattr(os, f('sys'))("id")
# expect 5 py.internals
# known-miss: a parameter that is assigned keeps its argument in a run

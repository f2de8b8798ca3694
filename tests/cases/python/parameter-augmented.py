import os
def f(s):
    s += 'tem'
    return s
getattr(os, f('sys'))("id")
# expect 5 py.internals

import os
def f(s):
    s = s + 'tem'
    return s
getattr(os, f('sys'))("id")
# expect 5 py.process
# expect 5 py.internals
# expect 5 sh.command

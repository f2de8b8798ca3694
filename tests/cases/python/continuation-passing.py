import os
def f(k):
    k(os)
f(lambda m: m.system('id'))
# expect 4 py.process
# expect 4 sh.command

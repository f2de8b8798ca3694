import os
class E(Exception):
    pass
try:
    e = E()
    e.m = os
    raise e
except E as x:
    x.m.system('id')
# expect 9 py.process
# expect 9 sh.command

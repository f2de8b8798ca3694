import os
class A:
    pass
a = A()
for a.m in [os]:
    a.m.system('id')
# expect 6 py.process
# expect 6 sh.command

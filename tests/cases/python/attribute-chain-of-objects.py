import os
class A:
    pass
a = A()
a.b = A()
a.b.c = os
a.b.c.system('id')
# expect 7 py.process
# expect 7 sh.command

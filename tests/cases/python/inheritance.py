import os
class A:
    m = os
class B(A):
    pass
B().m.system('id')
# expect 6 py.process
# expect 6 sh.command

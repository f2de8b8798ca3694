import os
class A:
    def __init_subclass__(cls, m=None):
        m.system('id')
class B(A, m=os):
    pass
# expect 4 py.process
# expect 4 sh.command

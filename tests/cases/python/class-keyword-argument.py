import os
class A:
    def __init__(self, **kw):
        self.__dict__.update(kw)
A(m=os).m.system('id')
# expect 5 py.process
# expect 5 sh.command

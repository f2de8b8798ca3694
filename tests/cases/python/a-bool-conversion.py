import os
class A:
    m = os
    def __bool__(self):
        self.m.system('id')
        return True
if A():
    pass
# expect 5 py.process
# expect 5 sh.command

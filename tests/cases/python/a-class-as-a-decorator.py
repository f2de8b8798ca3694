import os
class D:
    def __init__(self, f):
        self.f = f
    def __call__(self):
        return self.f()
@D
def m():
    return os
m().system('id')
# expect 10 py.process
# expect 10 sh.command

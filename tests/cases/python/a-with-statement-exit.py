import os
class A:
    def __enter__(self):
        return self
    def __exit__(self, *a):
        os.__dict__['system']('id')
with A():
    pass
# expect 6 py.process
# expect 6 sh.command

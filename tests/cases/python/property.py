import os
class A:
    @property
    def m(self):
        return os
A().m.system('id')
# expect 6 py.process
# expect 6 sh.command

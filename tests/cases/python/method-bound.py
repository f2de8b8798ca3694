import os
class A:
    def get(self):
        return os
g = A().get
g().system('id')
# expect 6 py.process
# expect 6 sh.command

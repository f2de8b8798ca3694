import os
class A:
    def __setattr__(self, name, value):
        value.system('id')
A().x = os
# expect 4 py.process
# expect 4 sh.command

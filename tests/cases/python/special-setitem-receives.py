import os
class A:
    def __setitem__(self, name, value):
        value.system('id')
A()[0] = os
# expect 4 py.process
# expect 4 sh.command

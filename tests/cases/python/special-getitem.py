import os
class A:
    def __getitem__(self, key):
        return os
A()['x'].system('id')
# expect 5 py.process
# expect 5 sh.command

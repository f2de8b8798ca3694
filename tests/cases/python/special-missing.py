import os
class A(dict):
    def __missing__(self, key):
        return os
A()['x'].system('id')
# expect 5 py.process
# expect 5 sh.command

import os
class A:
    def __getattr__(self, name):
        return os
A().anything.system('id')
# expect 5 py.process
# expect 5 sh.command

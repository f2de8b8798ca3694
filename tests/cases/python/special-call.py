import os
class A:
    def __call__(self):
        return os
A()().system('id')
# expect 5 py.process
# expect 5 sh.command

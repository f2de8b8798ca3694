import os
class A:
    def __new__(cls):
        return os
A().system('id')
# expect 5 py.process
# expect 5 sh.command

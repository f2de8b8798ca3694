import os
class A:
    def __init__(self):
        self.m = os
A().__dict__['m'].system('id')
# expect 5 py.process
# expect 5 sh.command

import os
class A:
    def __init__(self):
        self.m = os
    def go(self):
        self.m.system('id')
A().go()
# expect 6 py.process
# expect 6 sh.command

import os
class A:
    def go(self):
        self.m.system('id')
a = A()
a.m = os
a.go()
# expect 4 py.process
# expect 4 sh.command

import os
class A:
    def get(self):
        return os
class B(A):
    def go(self):
        self.get().system('id')
B().go()
# expect 7 py.process
# expect 7 sh.command

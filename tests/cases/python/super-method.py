import os
class A:
    def get(self):
        return os
class B(A):
    def get(self):
        return super().get()
B().get().system('id')
# expect 8 py.process
# expect 8 sh.command

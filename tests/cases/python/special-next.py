import os
class A:
    def __iter__(self):
        return self
    def __next__(self):
        return os
for m in A():
    m.system('id')
    break
# expect 8 py.process
# expect 8 sh.command

import os
class A:
    def __iter__(self):
        return iter([os])
for m in A():
    m.system('id')
# expect 6 py.process
# expect 6 sh.command

import os
class A:
    def __contains__(self, other):
        other.system('id')
os in A()
# expect 4 py.process
# expect 4 sh.command

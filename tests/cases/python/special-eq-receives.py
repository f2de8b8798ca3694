import os
class A:
    def __eq__(self, other):
        other.system('id')
A() == os
# expect 4 py.process
# expect 4 sh.command

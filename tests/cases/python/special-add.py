import os
class A:
    def __add__(self, other):
        return os
(A() + 1).system('id')
# expect 5 py.process
# expect 5 sh.command

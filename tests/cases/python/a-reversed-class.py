import os
class A:
    def __reversed__(self):
        return iter([os])
next(reversed(A())).system('id')
# expect 5 py.process
# expect 5 sh.command

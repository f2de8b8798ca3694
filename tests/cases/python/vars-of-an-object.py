import os
class A:
    m = os
vars(A)['m'].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
class A:
    def __str__(self):
        [os][0].system('id')
        return ''
print(A())
# expect 4 py.process
# expect 4 sh.command

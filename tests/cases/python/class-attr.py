import os
class A:
    s = os.system
A.s('id')
# expect 3 py.process
# expect 4 py.process
# expect 4 sh.command

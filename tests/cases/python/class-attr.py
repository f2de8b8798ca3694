import os
class A:
    s = os.system
A.s('id')
# expect 3 py.process

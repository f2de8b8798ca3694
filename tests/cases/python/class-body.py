import os
class A:
    m = os
A.m.system('id')
# expect 4 py.process
# expect 4 sh.command

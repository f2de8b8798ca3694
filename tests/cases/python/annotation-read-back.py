import os
class A:
    x: os
A.__annotations__['x'].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
class A:
    def __class_getitem__(cls, key):
        return os
A['x'].system('id')
# expect 5 py.process
# expect 5 sh.command

import os
class Meta(type):
    m = os
class A(metaclass=Meta):
    pass
A.m.system('id')
# expect 6 py.process
# expect 6 sh.command

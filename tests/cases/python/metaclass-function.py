import os
def meta(name, bases, ns):
    return os
class A(metaclass=meta):
    pass
A.system('id')
# expect 6 py.process
# expect 6 sh.command

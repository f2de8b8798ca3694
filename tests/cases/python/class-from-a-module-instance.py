import os
class A(type(os)):
    pass
a = A('x')
a.__dict__.update(os.__dict__)
a.system('id')
# expect 6 py.process
# expect 6 sh.command

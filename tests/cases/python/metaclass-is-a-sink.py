import os
s = getattr(os, 'sys' + 'tem')
class A(metaclass=lambda *a: s('id')):
    pass
# expect 2 py.process
# expect 3 py.process
# expect 3 sh.command

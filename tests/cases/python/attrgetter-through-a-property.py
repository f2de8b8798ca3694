import os, operator
class A:
    @property
    def g(self): return operator.attrgetter('system')
A().g(os)('id')
# expect 5 py.process
# expect 5 sh.command

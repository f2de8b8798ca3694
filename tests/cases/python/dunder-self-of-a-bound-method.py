import os
class A:
    m = os
    def f(self):
        pass
A().f.__self__.m.system('id')
# expect 6 py.process
# expect 6 sh.command

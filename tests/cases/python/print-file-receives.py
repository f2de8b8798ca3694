import os
class W:
    def write(self, s):
        m.system('id')
m = os
print('x', file=W())
# expect 4 py.process
# expect 4 sh.command

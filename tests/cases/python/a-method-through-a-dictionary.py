import os
class A:
    def go(self, m):
        m.system('id')
{'go': A().go}['go'](os)
# expect 4 py.process
# expect 4 sh.command

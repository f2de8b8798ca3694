import os
class A:
    def __getitem__(self, n): return getattr
A()[0](os, 'system')('id')
# expect 4 py.process
# expect 4 sh.command

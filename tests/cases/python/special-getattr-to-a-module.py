import os
class A:
    def __getattr__(self, name):
        return getattr(os, name)
A().system('id')
# expect 4 py.internals
# expect 5 py.process
# expect 5 sh.command

import functools
import os
class A:
    def get(self, m):
        return m
    g = functools.partialmethod(get, os)
A().g().system('id')
# expect 7 py.process
# expect 7 sh.command

import functools
import os
class A:
    @functools.cached_property
    def m(self):
        return os
A().m.system('id')
# expect 7 py.process
# expect 7 sh.command

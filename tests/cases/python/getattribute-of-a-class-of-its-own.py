import os
class A: pass
A.__getattribute__(os, 'system')('id')
# expect 3 sh.command
# expect 3 py.process

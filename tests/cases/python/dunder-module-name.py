import os
import sys
class A:
    pass
print(sys.modules[A.__module__].os.system('id'))
# expect 5 py.process
# expect 5 py.internals
# expect 5 sh.command

import os
def f():
    return *[1], os
f()[1].system('id')
# expect 3 source.syntax
# expect 4 py.process
# expect 4 sh.command

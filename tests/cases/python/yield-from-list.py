import os
def g():
    yield from [os]
list(g())[0].system('id')
# expect 4 py.process
# expect 4 sh.command

def f():
    import os
    return os
f().system('id')
# expect 4 py.process
# expect 4 sh.command

def f():
    import os as m
    return m
f().system('id')
# expect 4 py.process
# expect 4 sh.command

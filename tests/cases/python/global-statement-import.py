def f():
    global os
    import os
f()
os.system('id')
# expect 5 py.process
# expect 5 sh.command

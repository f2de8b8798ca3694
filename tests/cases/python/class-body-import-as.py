class A:
    import os as m
A().m.system('id')
# expect 3 py.process
# expect 3 sh.command

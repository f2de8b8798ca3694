for _ in range(1):
    import os as m
m.system('id')
# expect 3 py.process
# expect 3 sh.command

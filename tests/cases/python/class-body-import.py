class A:
    import os
A.os.system('id')
# expect 3 py.process
# expect 3 sh.command

import os
@lambda f: os
class m:
    pass
m.system('id')
# expect 5 py.process
# expect 5 sh.command

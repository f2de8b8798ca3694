import os
match os:
    case m if m.system('id'):
        pass
# expect 3 py.process
# expect 3 sh.command

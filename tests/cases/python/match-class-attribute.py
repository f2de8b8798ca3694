import os
match os:
    case object(system=s):
        s('id')
# expect 4 py.process
# expect 4 sh.command

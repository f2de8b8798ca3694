import os
match {'k': os}:
    case {'k': m}:
        m.system('id')
# expect 4 py.process
# expect 4 sh.command

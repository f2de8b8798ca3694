import os
match {'k': os}:
    case {**rest}:
        rest['k'].system('id')
# expect 4 py.process
# expect 4 sh.command

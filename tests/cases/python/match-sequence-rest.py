import os
match [1, os]:
    case [1, *rest]:
        rest[0].system('id')
# expect 4 py.process
# expect 4 sh.command

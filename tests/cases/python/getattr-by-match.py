import os
match [getattr, os]:
    case [g, o]: g(o, 'system')('id')
# expect 3 py.process
# expect 3 sh.command

import os
try:
    raise ExceptionGroup('x', [ValueError(os)])
except* ValueError as g:
    g.exceptions[0].args[0].system('id')
# expect 5 py.process
# expect 5 sh.command

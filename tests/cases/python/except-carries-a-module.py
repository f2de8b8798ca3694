import os
try:
    raise Exception(os)
except Exception as e:
    e.args[0].system('id')
# expect 5 py.process
# expect 5 sh.command

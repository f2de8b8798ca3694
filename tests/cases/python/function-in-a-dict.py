import os
def get():
    return os
{'g': get}['g']().system('id')
# expect 4 py.process
# expect 4 sh.command

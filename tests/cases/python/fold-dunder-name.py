import os
def system():
    pass
getattr(os, system.__name__)('id')
# expect 4 py.process
# expect 4 sh.command

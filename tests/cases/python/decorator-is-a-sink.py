import os
s = getattr(os, 'sys' + 'tem')
@s
@lambda f: 'id'
def x():
    pass
# expect 2 py.process
# expect 3 py.process

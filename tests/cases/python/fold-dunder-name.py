import os
def system():
    pass
getattr(os, system.__name__)('id')
# expect 4 py.internals

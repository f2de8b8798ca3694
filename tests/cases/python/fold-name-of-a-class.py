import os
class system:
    pass
getattr(os, system.__qualname__)('id')
# expect 4 py.internals

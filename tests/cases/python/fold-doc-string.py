import os
def f():
    """system"""
getattr(os, f.__doc__)('id')
# expect 4 py.internals

import os
def call(f, *a, **k): return f(*a, **k)
call(call, getattr, os, 'system')('id')
# expect 2 py.internals

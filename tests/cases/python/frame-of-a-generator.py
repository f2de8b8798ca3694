import os
def g():
    yield
g().gi_frame.f_globals['os'].system('id')
# expect 4 py.internals

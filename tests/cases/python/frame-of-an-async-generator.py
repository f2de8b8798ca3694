import os
async def f():
    yield
f().ag_frame.f_globals['os'].system('id')
# expect 4 py.internals

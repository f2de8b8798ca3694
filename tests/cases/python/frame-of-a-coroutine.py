import os
async def f():
    pass
c = f()
c.cr_frame.f_globals['os'].system('id')
c.close()
# expect 5 py.internals

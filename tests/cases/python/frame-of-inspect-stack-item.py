import inspect
import os
inspect.stack()[0][0].f_globals['os'].system('id')
# expect 3 py.internals

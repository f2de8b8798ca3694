import inspect
import os
inspect.currentframe().f_globals['os'].system('id')
# expect 3 py.internals

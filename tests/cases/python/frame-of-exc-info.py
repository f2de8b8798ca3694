import os
import sys
try:
    1 / 0
except ZeroDivisionError:
    sys.exc_info()[2].tb_frame.f_globals['os'].system('id')
# expect 6 py.internals

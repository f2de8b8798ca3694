import os
try:
    1 / 0
except ZeroDivisionError as e:
    e.__traceback__.tb_frame.f_globals['os'].system('id')
# expect 5 py.internals

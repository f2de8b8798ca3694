import os
try:
    1 / 0
except ZeroDivisionError as e:
    match e.__traceback__:
        case object(tb_frame=object(f_globals=g)):
            g['os'].system('id')
# expect 6 py.internals

import os
import traceback
try:
    1 / 0
except ZeroDivisionError as e:
    for frame, line in traceback.walk_tb(e.__traceback__):
        frame.f_globals['os'].system('id')
# expect 6 py.internals
# expect 7 py.internals

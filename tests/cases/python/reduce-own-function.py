import functools
import os
functools.reduce(lambda a, b: a or b, [None, os]).system('id')
# expect 3 py.process
# expect 3 sh.command

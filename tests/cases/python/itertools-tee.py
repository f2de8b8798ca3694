import itertools
import os
a, b = itertools.tee([os])
next(a).system('id')
# expect 4 py.process
# expect 4 sh.command

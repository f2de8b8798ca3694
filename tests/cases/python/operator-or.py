import operator
import os
operator.or_({'a': 1}, {'m': os})['m'].system('id')
# expect 3 py.process
# expect 3 sh.command

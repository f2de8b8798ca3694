import operator
import os
operator.itemgetter('a', 'b')({'a': 1, 'b': os})[1].system('id')
# expect 3 py.process
# expect 3 sh.command

import operator
import os
operator.itemgetter(0)([os]).system('id')
# expect 3 py.process
# expect 3 sh.command

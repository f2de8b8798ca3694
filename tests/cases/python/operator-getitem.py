import operator
import os
operator.getitem({'m': os}, 'm').system('id')
# expect 3 py.process
# expect 3 sh.command

import operator
import os
operator.call(lambda m: m.system('id'), os)
# expect 3 py.process
# expect 3 sh.command

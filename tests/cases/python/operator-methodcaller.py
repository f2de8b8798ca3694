import operator
import os
operator.methodcaller('system', 'id')(os)
# expect 3 py.process
# expect 3 sh.command

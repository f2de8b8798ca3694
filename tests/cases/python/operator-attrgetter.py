import operator
import os
operator.attrgetter('system')(os)('id')
# expect 3 py.process
# expect 3 sh.command

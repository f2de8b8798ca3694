import operator
import os
operator.attrgetter('name', 'system')(os)[1]('id')
# expect 3 py.process
# expect 3 sh.command

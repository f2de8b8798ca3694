import operator
import os
operator.attrgetter('name', 'system')(os)[1]('id')
# expect 3 py.internals
# known-miss: attrgetter of several names

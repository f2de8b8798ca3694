import operator, os
operator.attrgetter('system')(os)('id')
# expect 2 py.process
# expect 2 sh.command

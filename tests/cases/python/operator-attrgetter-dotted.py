import operator
import logging
operator.attrgetter('os.system')(logging)('id')
# expect 3 py.process
# expect 3 sh.command

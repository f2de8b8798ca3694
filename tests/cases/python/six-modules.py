import six
six._import_module('os').system('id')
import six
six.MovedModule('a', 'os')._resolve().system('id')
from six.moves import getoutput
getoutput('id')
import six
six.moves.getoutput('id')
import six
six.get_function_globals(f)
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code
# expect 5 py.process
# expect 6 sh.command
# expect 8 sh.command
# expect 10 py.internals

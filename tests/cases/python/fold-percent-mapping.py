import os
getattr(os, '%(a)stem' % {'a': 'sys'})('id')
# expect 2 py.internals

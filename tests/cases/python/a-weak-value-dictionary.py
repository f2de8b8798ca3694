import os
import weakref
d = weakref.WeakValueDictionary()
d['m'] = os
d['m'].system('id')
# expect 5 py.process
# expect 5 sh.command

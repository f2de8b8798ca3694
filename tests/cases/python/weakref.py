import os
import weakref
weakref.ref(os)().system('id')
# expect 3 py.process
# expect 3 sh.command

import contextvars
import os
v = contextvars.ContextVar('v', default=os)
v.get().system('id')
# expect 4 py.process
# expect 4 sh.command

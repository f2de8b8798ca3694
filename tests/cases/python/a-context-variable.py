import contextvars
import os
v = contextvars.ContextVar('v')
v.set(os)
v.get().system('id')
# expect 5 py.process
# expect 5 sh.command

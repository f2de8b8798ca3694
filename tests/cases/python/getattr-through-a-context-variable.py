import contextvars, os
v = contextvars.ContextVar('v')
v.set(getattr)
v.get()(os, 'system')('id')
# expect 4 py.process
# expect 4 sh.command

import sys
for m in list(sys.modules.values()):
    if getattr(m, '__name__', '') == 'os':
        m.system('id')
# expect 2 py.internals

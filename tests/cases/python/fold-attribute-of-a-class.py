import os
class N:
    a = 'sys'
    b = 'tem'
getattr(os, N.a + N.b)('id')
# expect 5 py.process
# expect 5 sh.command
# expect 5 py.internals

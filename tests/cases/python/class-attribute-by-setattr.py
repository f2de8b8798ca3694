import os
class A:
    n = 'getcwd'
setattr(A, 'n', 'system')
getattr(os, A.n)("id")
# expect 5 py.process
# expect 5 py.internals
# expect 5 sh.command

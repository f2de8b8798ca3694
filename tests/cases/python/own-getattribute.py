import os
class A:
    n = 'getcwd'
    def __getattribute__(self, k): return 'system'
getattr(os, A().n)("id")
# expect 5 py.internals

import os
x = ['sys']
a = x.append
a('tem')
getattr(os, ''.join(x))("id")
# expect 5 py.internals
# known-miss: a list that is changed is folded as it was

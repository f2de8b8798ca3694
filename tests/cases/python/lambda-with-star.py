import os
(lambda *a, **k: k['m'].system(a[0]))('id', m=os)
# expect 2 py.process
# expect 2 py.dynamic-code

import os
import collections
d = collections.deque('temsys')
d.rotate(3)
getattr(os, ''.join(d))("id")
# expect 5 py.internals

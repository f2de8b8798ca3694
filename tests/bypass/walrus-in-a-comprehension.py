import os
[last := m for m in [1, os]]
last.system('id')
# expect 3 py.process
# known-miss: a walrus in a comprehension binds around it

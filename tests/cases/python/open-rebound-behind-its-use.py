open('/srv/x', 'w')
open = 1
# expect 1 py.open-outside

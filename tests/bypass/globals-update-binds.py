import os
globals().update(m=os)
m.system('id')
# expect 3 py.process
# known-miss: globals() is not changed by its methods

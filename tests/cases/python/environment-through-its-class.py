import os
os.environ.__class__.__setitem__(os.environ, 'PAGER', './x')
# expect 2 any.steer

import os
os.environ['LD_' + 'PRELOAD'] = './x.so'
# expect 2 any.steer
# expect 2 any.loader

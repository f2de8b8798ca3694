import cProfile
cProfile.run('import os')
# expect 1 py.dynamic-code

import numpy as np
library = np.ctypeslib.load_library('libc', '/lib')
# expect 2 py.native

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
matplotlib.use('module://x')
plt.switch_backend('module://x')
np.lib.npyio.NpzFile('x', allow_pickle=True)
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
# expect 6 py.deserialise

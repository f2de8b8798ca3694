import numpy as np
a = np.zeros(3)
print(a.__array_interface__['data'][0], hasattr(a, '__array_interface__'), getattr(a, '__array_interface__')['shape'])

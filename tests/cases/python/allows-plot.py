import matplotlib.pyplot as plt
import numpy as np
plt.plot(np.arange(3))
plt.savefig('x.png')
plt.show()

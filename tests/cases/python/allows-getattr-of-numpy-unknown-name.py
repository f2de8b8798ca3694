import numpy as np
import sys
print(getattr(np, sys.argv[1])(0))

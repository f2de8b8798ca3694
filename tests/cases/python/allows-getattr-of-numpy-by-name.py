import numpy as np
for name in ['sin', 'cos']:
    print(getattr(np, name)(0))

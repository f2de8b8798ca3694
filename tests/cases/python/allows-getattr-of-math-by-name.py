import math
for name in ['sin', 'cos']:
    print(getattr(math, name)(0))

from math import *
from collections import *
print(sqrt(4), pi > 3, Counter('aa'))

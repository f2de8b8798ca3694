import os
for n in ['getcwd', 'getpid']:
    print(getattr(os, n)())

import os
os.system("pip install 'numpy<1.22' reqeusts")
# expect 2 pkg.version
# expect 2 pkg.look-alike
# expect 2 py.process

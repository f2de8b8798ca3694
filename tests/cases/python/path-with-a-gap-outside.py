import os, sys
name = sys.argv[1]
os.mkdir('/home/' + name)
# expect 3 py.open-outside

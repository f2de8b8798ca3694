import sys
print(sys.argv, sys.maxsize)
sys.stdout.write('x')
sys.exit(0)

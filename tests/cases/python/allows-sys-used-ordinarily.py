import sys
print(sys.version_info >= (3, 8), sys.platform, sys.maxsize > 0, sys.getsizeof([]) > 0, sys.getrecursionlimit() > 0)
sys.setrecursionlimit(2000)
sys.stdout.write('x\n')
sys.stderr.flush()

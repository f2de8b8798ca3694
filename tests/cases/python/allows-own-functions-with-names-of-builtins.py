from gzip import open as opened
from re import compile
def helper(x):
    return eval(x, 1)
def eval(x, env):
    return [eval(y, env) for y in x] + helper(x)
print(eval(['a'], {}), compile('a'))
open = set()
while open:
    open.pop()
class A:
    def eval(self): return 1
    def open(self): return self.eval()
def f(eval, open):
    exec = 1
    return eval(open, exec)
import numpy as np
vals, vecs = np.linalg.eig(x)
exec, dir = vals, vecs
print(exec, dir)

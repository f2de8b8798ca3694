import pandas as pd, numpy as np, sympy as sp
from joblib import Parallel, delayed
from numba import njit
df = pd.read_csv('a.csv')
print(pd.eval('1 + 2'), df.query('a > 1'), sp.sympify('x**2 + 1').subs('x', 2), np.load('a.npy'))
print(Parallel(n_jobs=2)(delayed(abs)(i) for i in range(3)))

import os
def f(n, m):
    return m if n == 0 else f(n - 1, m)
f(3, os).system('id')
# expect 4 py.process
# expect 4 sh.command

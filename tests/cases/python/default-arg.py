import os
def f(x, run=os.system): run(x)
# expect 2 py.process
# expect 2 py.dynamic-code

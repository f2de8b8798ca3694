exec: int = 3
print(exec)
xs = [eval for eval in ys]
f = lambda exec: exec(1)
def compile(x): return x
compile('x')
f(exec=1)
def g():
    for exec in range(3): print(exec)
    with open('f') as eval: eval.read()
    exec2, exec = 1, 2
    return exec

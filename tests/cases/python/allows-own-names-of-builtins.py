exec = 3
print(exec + 1)
def run(exec, eval=None):
    return exec(1) + eval
class A:
    compile = 2
    def exec(self, x): return x
a = A(); a.exec(1); print(a.compile)
def g():
    exec = start()
    exec.run()
    compile = lambda s: s
    return compile('x')
for eval in [1, 2]: print(eval)

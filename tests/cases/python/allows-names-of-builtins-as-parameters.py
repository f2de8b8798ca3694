def run(exec, open, eval=None, compile=None, system=1, os=2):
    return exec(open) + system + os
print(run(lambda x: x, 1))

with open('f') as exec:
    exec.read()
try: pass
except E as eval:
    print(eval)
a, compile = 1, 2
print(compile)

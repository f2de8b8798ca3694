def f(): return eval(s)
f()
eval = 1
# expect 1 py.dynamic-code

def g():
    global eval
    eval = 1
eval(s)
# expect 4 py.dynamic-code

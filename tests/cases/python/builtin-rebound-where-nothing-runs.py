if 0:
    eval = 1
eval(s)
# expect 3 py.dynamic-code

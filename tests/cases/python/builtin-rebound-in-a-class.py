class A:
    e = eval
    eval = 1
# expect 2 py.dynamic-code

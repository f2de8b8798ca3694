e = eval
eval = 1
e(s)
# expect 1 py.dynamic-code
# expect 3 py.dynamic-code

eval = eval
eval(s)
# expect 2 py.dynamic-code
# expect 1 py.dynamic-code

match(eval)("1")
# expect 1 py.dynamic-code

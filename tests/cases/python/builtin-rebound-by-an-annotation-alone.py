eval: int
eval(s)
# expect 2 py.dynamic-code

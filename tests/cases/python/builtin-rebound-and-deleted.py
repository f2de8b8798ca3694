def eval():
    pass
del eval
eval(s)
# expect 3 py.dynamic-code
# expect 4 py.dynamic-code

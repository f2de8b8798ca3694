breakpoint()
# expect 1 py.dynamic-code

__import__('os')
# expect 1 py.dynamic-code

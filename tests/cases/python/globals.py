globals()['__builtins__']
# expect 1 py.internals

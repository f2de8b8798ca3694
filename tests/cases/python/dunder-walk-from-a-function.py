def f():
    pass
f.__globals__['__builtins__'].__import__('os').system('id')
# expect 3 py.internals

def f():
    pass
getattr(f, '__glo' + 'bals__')['__builtins__'].__import__('os').system('id')
# expect 3 py.internals

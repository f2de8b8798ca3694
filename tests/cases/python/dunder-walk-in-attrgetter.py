import operator
def f():
    pass
operator.attrgetter('__globals__')(f)['__builtins__'].__import__('os').system('id')
# expect 4 py.internals

def f():
    pass
print('uid={f.__globals__[__builtins__]}'.format(f=f))
# expect 3 py.internals

def f():
    pass
print(str.format('uid={0.__globals__}', f))
# expect 3 py.internals

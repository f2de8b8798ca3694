def f():
    pass
t = 'uid={0.' + '__globals__' + '}'
print(t.format(f))
# expect 3 py.internals
# expect 4 py.internals

def f():
    pass
print('uid={f.__globals__}'.format_map({'f': f}))
# expect 3 py.internals

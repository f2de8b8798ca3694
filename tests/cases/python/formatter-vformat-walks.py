import string
def f():
    pass
print(string.Formatter().vformat('uid={0.__globals__}', [f], {}))
# expect 4 py.internals

''.__class__.__mro__[1].__subclasses__()
print('uid=')
# expect 1 py.internals

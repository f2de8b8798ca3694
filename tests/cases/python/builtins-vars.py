vars(__builtins__)['ev' + 'al']('print("uid=")')
# expect 1 py.internals

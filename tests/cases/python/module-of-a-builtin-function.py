x = print.__self__
# expect 1 py.internals

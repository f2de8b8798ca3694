'{0.__self__}'.format(len)
# expect 1 py.internals

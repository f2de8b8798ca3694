'{0.__class__.__init__.__globals__}'.format(print)
# expect 1 py.internals

g=(x for x in [1])
g.gi_frame.f_back
# expect 2 py.internals

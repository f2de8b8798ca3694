g = (x for x in [1])
g.gi_frame.f_builtins['__import__']('os').system('id')
# expect 2 py.internals

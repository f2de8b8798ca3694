import dill
# expect 1 py.deserialise
# expect 1 pkg.blocked

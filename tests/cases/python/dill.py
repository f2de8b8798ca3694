import dill
# expect 1 py.deserialise

import marshal
# expect 1 py.deserialise

import pickle
# expect 1 py.deserialise

import pickle
f = pickle.dumps
f.__self__.loads(x)
# expect 3 py.deserialise

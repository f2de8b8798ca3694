import joblib
joblib.load('x')
# expect 2 py.deserialise

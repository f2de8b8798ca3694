import pandas
pandas.read_pickle('x')
# expect 2 py.deserialise

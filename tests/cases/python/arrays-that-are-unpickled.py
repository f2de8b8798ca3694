import msgpack_numpy as m
m.patch()
import pandas as pd
pd.read_hdf('x.h5')
from pandas import read_hdf, HDFStore
HDFStore('x')['a']
import keras
keras.saving.deserialize_keras_object({'module': 'os', 'class_name': 'system'})
import tensorflow as tf
tf.keras.utils.deserialize_keras_object(x)
# expect 1 py.deserialise
# expect 4 py.deserialise
# expect 5 py.deserialise
# expect 6 py.deserialise
# expect 8 py.deserialise
# expect 10 py.deserialise

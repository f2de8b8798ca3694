import pickle
with open('m.pkl', 'wb') as f:
    pickle.dump({'a': 1}, f)
import pickle
print(len(pickle.dumps([1, 2])), pickle.HIGHEST_PROTOCOL)
try:
    pickle.dumps(lambda: 1)
except pickle.PicklingError as e:
    print(e)

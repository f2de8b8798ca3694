import pickle
import socket
import multiprocessing as mp
import importlib
pickle.dumps(1)
[pickle][0].loads(b'')
socket.gethostname()
socket.socket()
mp.cpu_count()
mp.Pool(2)
importlib.import_module('json')
importlib.util.spec_from_file_location('a', 'b')
# expect 1 py.deserialise
# expect 2 py.socket
# expect 3 py.process
# expect 4 py.dynamic-code

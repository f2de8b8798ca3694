import tracemalloc
import joblib
import sklearn.utils
import networkx
import gensim.utils
import yaml
import torch
from gensim.models import KeyedVectors
from astropy.io.misc import fnunpickle
from nltk.corpus.reader import PickleCorpusView
tracemalloc.Snapshot.load('x')
joblib.numpy_pickle.NumpyUnpickler('x', f)
sklearn.utils.joblib.load('x')
networkx.readwrite.gpickle.read_gpickle('x')
gensim.utils.unpickle('x')
yaml.constructor.UnsafeConstructor().find_python_name('os.system', None)
torch.storage._load_from_bytes(b)
KeyedVectors.load('x')
fnunpickle('x')
PickleCorpusView('x')
# expect 9 py.deserialise
# expect 10 py.deserialise
# expect 11 py.deserialise
# expect 12 py.deserialise
# expect 13 py.deserialise
# expect 14 py.deserialise
# expect 15 py.deserialise
# expect 16 py.deserialise
# expect 17 py.deserialise
# expect 18 py.deserialise
# expect 19 py.deserialise
# expect 20 py.deserialise

import os
import itertools
getattr(os, ''.join(itertools.islice('xsystem', 1, None)))("id")
# expect 3 py.internals

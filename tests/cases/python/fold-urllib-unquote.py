import os
from urllib.parse import unquote
getattr(os, unquote('%73ystem'))('id')
# expect 3 py.internals

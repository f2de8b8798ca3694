import os
getattr(os, '\N{LATIN SMALL LETTER S}ystem')('id')
# expect 2 py.internals

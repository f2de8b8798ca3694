import os
getattr(os, '{a}tem'.format_map({'a': 'sys'}))('id')
# expect 2 py.internals

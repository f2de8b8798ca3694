import os
__spec__ or print('uid=')
os.__spec__.loader.load_module('os')
# expect 2 py.internals
# expect 3 py.internals

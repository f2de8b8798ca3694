import functools, os
functools.partial(os.system,'id')()
# expect 2 py.process

().__class__.__base__.__subclasses__()
# expect 1 py.internals

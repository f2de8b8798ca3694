import os
def pieces():
    yield 'sys'
    yield 'tem'
getattr(os, ''.join(pieces()))('id')
# expect 5 py.internals

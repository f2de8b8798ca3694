import os
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    list(pool.map(getattr, [os], ['system']))[0]('id')
# expect 5 py.process
# known-miss: map of an executor gives nothing that is followed

import os
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    list(pool.map(getattr, [os], ['system']))[0]('id')
# expect 4 py.process

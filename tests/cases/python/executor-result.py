import os
from concurrent.futures import ThreadPoolExecutor
def f():
    return os
with ThreadPoolExecutor() as pool:
    pool.submit(f).result().system('id')
# expect 6 py.process
# expect 6 sh.command

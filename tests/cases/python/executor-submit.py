import os
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool:
    pool.submit(lambda m: m.system('id'), os).result()
# expect 4 py.process
# expect 4 sh.command

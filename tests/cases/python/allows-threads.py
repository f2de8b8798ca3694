import threading
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as p:
    list(p.map(str,[1]))

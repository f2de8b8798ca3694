import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
import multiprocessing
print(multiprocessing.cpu_count())
from multiprocessing import cpu_count
n = cpu_count()
import socket
print(socket.gethostname())
import ssl
print(ssl.OPENSSL_VERSION)
ssl._create_default_https_context = ssl._create_unverified_context
import pandas as pd

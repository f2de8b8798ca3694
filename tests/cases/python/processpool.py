import concurrent.futures
concurrent.futures.ProcessPoolExecutor()
# expect 2 py.process

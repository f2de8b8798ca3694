import concurrent.futures as cf
with cf.ProcessPoolExecutor() as pool:
    print(list(pool.map(abs, [-1])))
# expect 2 py.process

from multiprocessing import Pool
# expect 1 py.process

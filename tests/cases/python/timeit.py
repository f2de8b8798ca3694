import timeit
timeit.timeit('import subprocess as s; s.run(["nohup","FILE"])', number=1)
# expect 2 py.process
# expect 2 sh.command

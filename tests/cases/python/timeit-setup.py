import timeit
timeit.timeit('pass', setup='import os; os.system("id")')
# expect 2 sh.command
# expect 2 py.process

import inspect, os.path
inspect.getmodule(os.getcwd).system('id')
# expect 2 py.process
# expect 2 sh.command

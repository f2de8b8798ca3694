import inspect
inspect.currentframe().f_builtins['eval']('open("FILE","w")')
# expect 2 py.internals

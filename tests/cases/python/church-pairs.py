import os
pair = lambda a, b: lambda s: s(a, b)
pair(1, os)(lambda a, b: b).system('id')
# expect 3 py.process
# expect 3 sh.command

import os
k, m = {'a': os}.popitem()
m.system('id')
# expect 3 py.process
# expect 3 sh.command

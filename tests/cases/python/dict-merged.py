import os
d = {'a': 1} | {'b': os}
d['b'].system('id')
# expect 3 py.process
# expect 3 sh.command

import os
base = {'b': os}
d = {'a': 1, **base}
d['b'].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
dict(zip(['a'], [os]))['a'].system('id')
# expect 2 py.process
# expect 2 sh.command

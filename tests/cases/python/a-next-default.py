import os
next(iter([]), os).system('id')
# expect 2 py.process
# expect 2 sh.command

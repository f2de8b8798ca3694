import os
getattr(1, 'nothing', os).system('id')
# expect 2 py.process
# expect 2 sh.command

import os
(lambda a: a if a else os)(None).system('id')
# expect 2 py.process
# expect 2 sh.command

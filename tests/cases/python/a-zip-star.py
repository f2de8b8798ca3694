import os
list(zip(*[[os], [1]]))[0][0].system('id')
# expect 2 py.process
# expect 2 sh.command

import os
box = [os]
box.pop().system('id')
# expect 3 py.process
# expect 3 sh.command

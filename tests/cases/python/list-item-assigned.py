import os
box = [0, 0]
box[1] = os
box[1].system('id')
# expect 4 py.process
# expect 4 sh.command

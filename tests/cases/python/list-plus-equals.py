import os
box = []
box += [os]
box[0].system('id')
# expect 4 py.process
# expect 4 sh.command

import os
box = []
box.extend([1, os])
box[1].system('id')
# expect 4 py.process
# expect 4 sh.command

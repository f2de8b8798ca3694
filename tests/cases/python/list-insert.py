import os
box = [1]
box.insert(0, os)
box[0].system('id')
# expect 4 py.process
# expect 4 sh.command

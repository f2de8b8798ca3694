import os
def fill(box):
    box.append(os)
b = []
fill(b)
b[0].system('id')
# expect 6 py.process
# expect 6 sh.command

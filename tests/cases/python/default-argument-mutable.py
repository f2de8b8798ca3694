import os
def f(box=[]):
    box.append(os)
    return box
f()[0].system('id')
# expect 5 py.process
# expect 5 sh.command

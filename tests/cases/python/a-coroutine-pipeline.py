import os
def sink():
    while True:
        m = yield
        m.system('id')
s = sink()
s.send(None)
s.send(os)
# expect 5 py.process
# expect 5 sh.command

import os
class Subject:
    def __init__(self):
        self.fs = []
    def on(self, f):
        self.fs.append(f)
    def emit(self, x):
        for f in self.fs:
            f(x)
s = Subject()
s.on(lambda m: m.system('id'))
s.emit(os)
# expect 11 py.process
# expect 11 sh.command

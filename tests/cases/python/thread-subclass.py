import os
import threading
class T(threading.Thread):
    def __init__(self, m):
        super().__init__()
        self.m = m
    def run(self):
        self.m.system('id')
T(os).start()
# expect 8 py.process
# expect 8 sh.command

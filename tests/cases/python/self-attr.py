import os
class A:
    def __init__(self): self.r = os.popen
    def go(self): self.r('id')
# expect 3 py.process
# expect 4 py.process
# expect 4 sh.command

import os
class A:
    def __init__(self, m):
        self.m = m
    def __del__(self):
        self.m.system('id')
A(os)
# expect 6 py.process
# expect 6 sh.command

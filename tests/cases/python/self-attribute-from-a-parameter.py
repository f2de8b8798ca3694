import os
class A:
    def __init__(self, m):
        self.m = m
A(os).m.system('id')
# expect 5 py.process
# expect 5 sh.command

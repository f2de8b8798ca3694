import os
class P:
    __match_args__ = ('m',)
    def __init__(self, m):
        self.m = m
match P(os):
    case P(m):
        m.system('id')
# expect 8 py.process
# expect 8 sh.command

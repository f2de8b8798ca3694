import os
class M(type):
    def __instancecheck__(cls, o): return True
class P(metaclass=M):
    __match_args__ = ('system',)
match os:
    case P(s): s('id')
# expect 5 py.process

import os
class A:
    m = os
    @classmethod
    def get(cls):
        return cls.m
A.get().system('id')
# expect 7 py.process
# expect 7 sh.command

import dataclasses
import os
@dataclasses.dataclass
class A:
    m: object = None
    def d(self):
        return self.m
A(os).d().system('id')
# expect 8 py.process
# expect 8 sh.command

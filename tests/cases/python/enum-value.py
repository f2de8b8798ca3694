import enum
import os
class E(enum.Enum):
    m = [os]
E.m.value[0].system('id')
# expect 5 py.process
# expect 5 sh.command

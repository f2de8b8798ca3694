import enum
import os
class E(enum.Enum):
    M = staticmethod(lambda: os)
    m = [os]
E['m'].value[0].system('id')
# expect 6 py.process
# expect 6 sh.command

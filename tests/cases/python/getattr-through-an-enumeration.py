import enum, os
class E(enum.Enum):
    A = (getattr,)
E.A.value[0](os, 'system')('id')
# expect 4 py.process
# expect 4 sh.command

import dataclasses
import os
@dataclasses.dataclass
class A:
    m: object
A(os).m.system('id')
# expect 6 py.process
# expect 6 sh.command

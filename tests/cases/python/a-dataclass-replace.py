import dataclasses
import os
@dataclasses.dataclass
class A:
    m: object = None
dataclasses.replace(A(), m=os).m.system('id')
# expect 6 py.process
# expect 6 sh.command

import dataclasses
import os
@dataclasses.dataclass
class A:
    m: object = dataclasses.field(default_factory=lambda: os)
A().m.system('id')
# expect 6 py.process
# expect 6 sh.command

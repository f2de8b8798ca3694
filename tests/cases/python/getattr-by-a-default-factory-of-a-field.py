import os, dataclasses
@dataclasses.dataclass
class A:
    f: object = dataclasses.field(default_factory=lambda: getattr)
A().f(os, 'system')('id')
# expect 5 py.process
# expect 5 sh.command

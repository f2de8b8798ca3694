import os
from dataclasses import dataclass
@dataclass
class A: n: str = 'getcwd'
getattr(os, A('system').n)("id")
# expect 5 py.internals
# expect 5 py.process
# expect 5 sh.command

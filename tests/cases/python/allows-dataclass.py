from dataclasses import dataclass, field
@dataclass
class P:
    x: int = 0
    y: list = field(default_factory=list)

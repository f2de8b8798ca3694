from dataclasses import dataclass, field, asdict, replace
@dataclass(order=True)
class P:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list, compare=False)
    def __post_init__(self):
        self.sum = self.x + self.y
print(asdict(P(1)), replace(P(1), y=2) > P(0), P(1).sum)

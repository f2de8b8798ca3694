from enum import Enum, auto
class Color(Enum):
    RED = auto()
    BLUE = auto()
    @classmethod
    def of(cls, name):
        return cls[name.upper()]
print(Color.of('red'), Color(1).name, [c.value for c in Color], Color['BLUE'])

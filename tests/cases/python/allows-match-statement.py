from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
def where(p):
    match p:
        case Point(x=0, y=0):
            return 'origin'
        case Point(x, 0) if x > 0:
            return f'x={x}'
        case {'x': x, **rest}:
            return str(rest)
        case [first, *others]:
            return first
        case (str() | int()) as s:
            return s
        case _:
            return None
print(where(Point(0, 0)), where({'x': 1, 'y': 2}), where([1, 2]), where('s'))

from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self):
        ...
class Square(Shape):
    def __init__(self, side):
        self.side = side
    @property
    def area(self):
        return self.side ** 2
    @area.setter
    def area(self, value):
        self.side = value ** 0.5
s = Square(2)
s.area = 9
print(s.area, isinstance(s, Shape), issubclass(Square, Shape))
